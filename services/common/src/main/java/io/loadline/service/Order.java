package io.loadline.service;

public record Order(long id, String customerName, double total, String status) {
}
