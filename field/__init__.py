"""The field: real checkouts of public model repositories, run by their own bash and by ``tipc``."""
