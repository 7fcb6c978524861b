"""Ten pieces of work: the same loop with another length; with EXTRA = 1 the fourth makes 5 % more steps."""

EXTRA = 0


def steps(number):
    steps = 1000 + 200 * number
    return steps + steps // 20 * EXTRA if number == 4 else steps


def work(steps):
    x = 88172645463325252
    for _ in range(steps):
        x = (x ^ (x >> 12)) * 69069 & 0xFFFFFFFF
    return x
