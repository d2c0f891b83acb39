"""Gradio's theme in the colours of the workspace; static/css/theme.css defines them, light and dark."""

import gradio as gr

_COLOURS = {
    "body_background_fill": "panel",
    "background_fill_primary": "panel",
    "background_fill_secondary": "sunken",
    "body_text_color": "ink",
    "body_text_color_subdued": "ink-2",
    "border_color_primary": "line",
    "border_color_accent": "accent",
    "link_text_color": "accent",
    "link_text_color_hover": "accent-hover",
    "link_text_color_visited": "accent",
    "block_background_fill": "panel",
    "block_title_text_color": "ink-2",
    "block_label_text_color": "ink-2",
    "block_info_text_color": "ink-2",
    "input_background_fill": "panel",
    "input_border_color": "line-strong",
    "input_border_color_focus": "accent",
    "input_placeholder_color": "ink-3",
    "checkbox_background_color": "panel",
    "checkbox_background_color_selected": "accent",
    "checkbox_border_color": "line-strong",
    "checkbox_border_color_selected": "accent",
    "checkbox_label_background_fill": "sunken",
    "checkbox_label_background_fill_selected": "accent-soft",
    "slider_color": "accent",
    "table_text_color": "ink",
    "table_border_color": "line",
    "table_even_background_fill": "panel",
    "table_odd_background_fill": "panel",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "accent-hover",
    "button_primary_text_color": "on-accent",
    "button_secondary_background_fill": "panel",
    "button_secondary_background_fill_hover": "sunken",
    "button_secondary_border_color": "line-strong",
    "button_secondary_text_color": "ink",
}
_FRAMES = {
    "block_border_width": "0px",
    "block_shadow": "none",
    "input_border_width": "1px",
    "button_border_width": "1px",
}


def theme() -> gr.themes.Base:
    """Return the theme, whose colours follow the light or dark mode of the browser."""
    base = gr.themes.Base(
        primary_hue="blue",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
        radius_size="md",
    )
    chosen = {name: f"var(--g-{colour})" for name, colour in _COLOURS.items()} | _FRAMES
    dark = {f"{name}_dark": value for name, value in chosen.items()}
    return base.set(**chosen, **dark, block_padding="0px")
