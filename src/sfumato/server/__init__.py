"""The curator as a service: a wall between analysts and the data, through which only answers pass.

*Flow*      token → role → dataset → question → plan (public) → worker process: charge, tally,
            perturb, finish → stored bytes → reply at its deadline.
*Wall*      What an analyst sees is a status, headers, bytes, and when they come. The first three
            follow from public things and from answers that were paid for; the last follows from a
            class that is chosen from public things.
"""
