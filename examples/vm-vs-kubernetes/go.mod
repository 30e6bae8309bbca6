module loadline.io/examples/vm-vs-kubernetes

go 1.26.0
