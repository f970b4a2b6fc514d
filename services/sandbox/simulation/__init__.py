"""The simulated world: the workers' own code over a simulated log, clock, provider and Discord, in virtual time.

In: the event loop and the hosts that die and sleep in it, the cluster, the provider, Discord and its users, the faults,
one world a seed, the checker of the invariants, the story of a failing seed. Not in: any rule of the workers; what runs
here is their code.
"""
