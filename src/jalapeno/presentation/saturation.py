"""What to say of a run that could not keep up."""

from __future__ import annotations

from jalapeno.metrics import Saturation
from jalapeno.presentation.digits import number


def saturation_words(found: Saturation | None) -> str:
    """A sentence, and a space after it, where latencies are not what they seem; else ""."""
    if found is None or (found.settled and not found.saturated):
        return ""
    offered = f"{number(found.offered_per_s, 4)} requests/s were offered"
    if not found.settled:
        return (
            f"TOO SHORT TO TELL whether the load is kept up with: {offered}, and most requests "
            "take longer than a quarter of the time in which they came; send more. "
        )
    return (
        f"SATURATED: {offered}, it sustains at most {number(found.sustained_per_s, 4)} requests/s. "
        f"Latencies grow for as long as the run lasts ({found.backlog_at_end:,} requests in the "
        "system when the last one came) and say nothing of the system. "
    )
