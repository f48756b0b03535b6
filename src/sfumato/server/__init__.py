"""The curator as a service: a wall between analysts and the data, through which only answers pass.

*Flow*      token → role → dataset → question → plan (public) → worker process: charge, tally,
            perturb, finish → stored bytes → reply at its deadline.
*Wall*      An analyst sees a status, headers, bytes, and when they arrive. Status, headers and
            bytes depend only on public facts and on paid answers; the time depends on a deadline
            class that is chosen from public facts.
"""
