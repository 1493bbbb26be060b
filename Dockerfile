# syntax=docker/dockerfile:1

# Build a static binary. Modules are downloaded in a layer of their own, so that
# a change of code does not fetch them again.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG COMMIT=unknown
RUN .ci/build /out/vitrine && mkdir -p /out/data

# The manual pages: docker run --rm -v "$PWD/man:/man" -u "$(id -u)" vitrine man /man
# Run it as nobody, on nothing else: no shell, no package manager, a read-only root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/vitrine /usr/local/bin/vitrine
COPY --from=build --chown=nonroot:nonroot /out/data /data
USER nonroot
WORKDIR /
VOLUME /data
# The store is the default one, data/vitrine.db below the working directory. It is not
# given here, so that `docker run IMAGE serve --demo` has the demo's own beside it.
ENV VITRINE_LISTEN=0.0.0.0:8080
EXPOSE 8080
# The image has no curl: the binary asks its own health endpoint.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["/usr/local/bin/vitrine", "health"]
ENTRYPOINT ["/usr/local/bin/vitrine"]
CMD ["serve"]
