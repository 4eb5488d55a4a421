"""``jalapeno posterior``: tables, pictures and pages of what is inferred of Jalapeño."""
