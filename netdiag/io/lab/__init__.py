"""The tutorial lab: namespaces and devices, made, shown and removed."""
