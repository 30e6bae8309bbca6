package io.loadline.quarkus;

import jakarta.ws.rs.BadRequestException;

final class Parameters {
    private Parameters() {
    }

    static String required(String name, String value) {
        if (value == null) {
            throw new BadRequestException(name + " is missing");
        }
        return value;
    }
}
