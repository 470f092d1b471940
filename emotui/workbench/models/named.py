"""Which servers a person of this machine has named: what screens ask before a workspace's own model is used."""

from emotui.backends.servers.named import name, unnamed

__all__ = ["name", "unnamed"]
