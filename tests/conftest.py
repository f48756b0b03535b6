"""Settings of the whole suite."""

from hypothesis import settings

# A shared machine is slow at times; that says nothing about the code. Failures print what reproduces them.
settings.register_profile("sfumato", deadline=None, print_blob=True)
settings.load_profile("sfumato")
