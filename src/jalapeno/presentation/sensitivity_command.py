def sensitivity_command(x: int) -> None:
    pass
