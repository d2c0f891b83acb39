"""Reference of the REST interface: an OpenAPI document with examples, and a page that shows it."""
