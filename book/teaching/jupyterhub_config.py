"""JupyterHub for a course on one machine: accounts of the machine, JupyterLab, one thread for each student."""

c = get_config()  # noqa: F821 (JupyterHub brings it)

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # a web server with a certificate stands in front of it
c.JupyterHub.authenticator_class = "pam"  # the accounts of this machine
c.Authenticator.admin_users = {"teacher"}
c.Authenticator.allow_all = True  # whoever has an account here; name a set in allowed_users to be stricter

c.Spawner.cmd = ["/opt/paying-attention/.venv/bin/jupyterhub-singleuser"]  # JupyterHub in the book's environment
c.Spawner.default_url = "/lab"
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}  # a lab needs one core; thirty students share those that are there
