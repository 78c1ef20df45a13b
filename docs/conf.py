"""How Sphinx makes the documentation: `./dev docs`."""
import os
import re
from pathlib import Path

here = Path(__file__).parent
project = "Forebay"
copyright = "the Forebay authors"
release = re.search(r"project\(\s*forebay[^)]*VERSION\s+([\d.]+)", (here.parent / "CMakeLists.txt").read_text(), re.S)[1]

extensions = ["myst_parser", "sphinx_copybutton", "breathe"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
nitpicky = False
# Breathe declares a struct and its typedef of the same name.
suppress_warnings = ["duplicate_declaration.c", "duplicate_declaration.cpp"]

breathe_projects = {"forebay": os.environ.get("FOREBAY_DOXYGEN", "")}
breathe_default_project = "forebay"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
c_extra_keywords = []
c_id_attributes = cpp_id_attributes = ["FOREBAY_API"]

html_theme = "furo"
html_title = f"Forebay {release}"
html_static_path = ["_static"]
html_css_files = ["forebay.css"]
html_extra_path = ["report.schema.json"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"

# The manual pages, which are kept in docs/man so that nobody needs Sphinx to install them.
today = " "
smartquotes_action = "qe"  # an option's -- stays as it is typed
man_pages = [
    ("man/forebay", "forebay", "run HDF5 and PnetCDF programs with their small writes merged", [], 1),
    ("man/forebay-try", "forebay-try", "compare a program with and without Forebay", [], 1),
    ("man/forebay-plan", "forebay-plan", "tell what a collective write would do on a machine", [], 1),
    ("man/forebay-recover", "forebay-recover", "complete files by the logs that programs left", [], 1),
    ("man/forebay-report", "forebay-report", "print or draw what Forebay did", [], 1),
    ("hints", "forebay-hints", "hints and environment variables of Forebay", [], 7),
]
