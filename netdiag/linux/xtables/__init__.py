"""Rules of iptables: tables, matches and targets to values, values to the words of iptables-save; no socket here.

`tables` reads what legacy iptables gives; nf_tables has matches and targets of iptables among its expressions.
"""
