"""``jalapeno audit``: the judged comparison as tables, JSON, a picture and a page."""
