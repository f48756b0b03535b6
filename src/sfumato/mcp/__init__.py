"""Tools in the Model Context Protocol: programs that work with tools ask a service through them.
Each question has a cost before it is asked, and above a limit a person's consent.
"""
