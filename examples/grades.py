"""Ten students and one question: how many failed? The exact answer gives Angie away to whoever
knows the others; a private one does not.
"""

import sfumato as sf
from sfumato import mechanisms as mech

students = sf.samples.grades()
failed = sum(student.grade == "fail" for student in students)

# One student changes the count by at most 1, whichever relation is meant.
for epsilon in ("0.1", "0.5", "2"):
    m = mech.Laplace(sensitivity=1, epsilon=epsilon, unit="student")
    answer = m.perturb(failed)
    print(f"ε = {epsilon}: about {answer} of {len(students)} failed, ± {m.error(0.95)} at 95 %")

    # What a classmate who knows everybody but Angie makes of this answer, if he thought 0.4 before.
    likelihood_failed, likelihood_passed = (
        m.probability(answer - failed),
        m.probability(answer - (failed - 1)),
    )
    posterior = 0.4 * likelihood_failed / (0.4 * likelihood_failed + 0.6 * likelihood_passed)
    print(f"   his belief that Angie failed: 0.40 before, {posterior:.2f} after")
