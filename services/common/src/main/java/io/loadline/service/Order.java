package io.loadline.service;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/** Classes from an AOT cache do not keep the order of their members. */
@JsonPropertyOrder({"id", "customerName", "total", "status"})
public record Order(long id, String customerName, double total, String status) {
}
