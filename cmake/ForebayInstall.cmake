# What `cmake --install` gives a user's project: the export of all rooms' targets, the package file and pkg-config files.
