"""What a deployment is: its members and networks, where clients stand, and what contacting a broker gave."""
