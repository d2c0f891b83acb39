"""The web application: REST routes, the Gradio page, and the front end."""
