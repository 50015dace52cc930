"""Configuration of the documentation; `make docs` builds it into `build/docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "jupyterlab_t9kjob"
author = "jupyterlab_t9kjob contributors"
project_copyright = f"2026, {author}"
release = version = installed_version("jupyterlab_t9kjob")

# The last three are in `_ext`.
extensions = ["myst_parser", "rest_api", "settings_table", "traits_table"]
exclude_patterns = ["_ext"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = "jupyterlab_t9kjob"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
