"""How gunicorn runs the service: workers with threads, as many as its guide recommends."""

from service import environment

wsgi_app = "service.wsgi"
bind = f"0.0.0.0:{environment.PORT}"
workers = environment.WORKERS
# The default workers answer one connection at a time, and wait for the request of one that is idle: they are made to stand behind a proxy. These
# leave a connection that was idle for five seconds to a poller, and keep it as long as nginx does.
worker_class = "gthread"
threads = environment.THREADS
keepalive = 75
graceful_timeout = 9
# Nothing but /tmp may be written.
control_socket_disable = True


def post_worker_init(worker):
    # Django and what it answers with are there before the first request.
    from service import urls, workers  # noqa: F401

    workers.share()


def worker_exit(server, worker):
    from service import workers

    workers.unshare()
