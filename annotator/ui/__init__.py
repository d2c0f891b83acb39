"""The tabs of the page that Gradio draws."""
