"""Which path is answered by which view."""

from django.urls import path

from . import environment, views

urlpatterns = [
    path(f"hello/{environment.MODE}", views.hello),
    path("api/orders", views.orders),
    path("cpu", views.cpu),
    path("healthz", views.healthz),
    path("metrics", views.metrics),
]
