"""An open, executable twin of OpenAI's Jalapeño and of the systems it is compared with.

Read the floors in this order: catalogue, cost, mapping, simulation, metrics, analysis,
presentation.  Each imports only the floors before it.
"""
