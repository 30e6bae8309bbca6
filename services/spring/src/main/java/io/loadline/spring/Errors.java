package io.loadline.spring;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@RestControllerAdvice
class Errors {
    @ExceptionHandler(IllegalArgumentException.class)
    ResponseEntity<String> badRequest(IllegalArgumentException error) {
        return ResponseEntity.badRequest().body(error.getMessage());
    }

    @ExceptionHandler({InterruptedException.class, IllegalStateException.class, HttpMessageNotWritableException.class})
    ResponseEntity<Void> failed(Exception error) {
        return ResponseEntity.status(HttpStatus.INTERNAL_SERVER_ERROR).header("X-Error", error.toString()).build();
    }
}
