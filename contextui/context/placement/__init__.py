"""Placement by price: what each request contains, and when outdated content is removed."""
