# Build stage: the packages of scripts/install-deps.sh, then the one binary. Runtime stage: that binary, the shared
# libraries that it loads, and nothing else; no shell, no package manager.
FROM docker.io/library/debian:bookworm-slim AS build

WORKDIR /src
COPY scripts/install-deps.sh scripts/
RUN scripts/install-deps.sh build && rm -rf /var/lib/apt/lists/*

COPY . .
ARG COMMIT=unknown
# The compiler's cache outlives the stage: a second build of a changed tree is short.
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "-DXILA_COMMIT=$COMMIT" && \
    cmake --build --preset release --target xila-guard

# The runtime's root folder. Times are set, so that the same sources give the same layer.
ARG SOURCE_DATE_EPOCH=0
RUN set -eu; \
    mkdir -p /root-tree/etc/ssl/certs; cd /root-tree; \
    install -m 0755 /src/build/release/xila-guard xila-guard; \
    strip xila-guard; \
    ldd xila-guard | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} .; \
    cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/; \
    echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' > etc/passwd; \
    echo 'nonroot:x:65532:' > etc/group; \
    find . -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +; \
    ./xila-guard version

FROM scratch
ARG VERSION=0.0.0
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="xila-guard" \
      org.opencontainers.image.description="Admission boundary for multi-tenant GPU clusters" \
      org.opencontainers.image.source="https://github.com/xila-guard/xila-guard" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /root-tree/ /
USER 65532:65532
ENTRYPOINT ["/xila-guard"]
