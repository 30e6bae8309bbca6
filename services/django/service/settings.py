"""Django's settings: those of `startproject`, without what needs a database."""

from django.core.management.utils import get_random_secret_key

# Nothing is signed, but Django wants one.
SECRET_KEY = get_random_secret_key()
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "service.urls"
WSGI_APPLICATION = "service.wsgi.application"
MIDDLEWARE = [
    "service.telemetry.metered",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
