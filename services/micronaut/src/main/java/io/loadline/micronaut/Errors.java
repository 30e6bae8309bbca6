package io.loadline.micronaut;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Error;

@Controller
class Errors {
    @Error(global = true)
    HttpResponse<String> badRequest(IllegalArgumentException error) {
        return HttpResponse.badRequest(error.getMessage());
    }

    @Error(global = true)
    HttpResponse<?> failed(InterruptedException error) {
        return failed((Exception) error);
    }

    @Error(global = true)
    HttpResponse<?> failed(IllegalStateException error) {
        return failed((Exception) error);
    }

    private static HttpResponse<?> failed(Exception error) {
        return HttpResponse.serverError().header("X-Error", error.toString());
    }
}
