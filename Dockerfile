# One image for the controller and the proxies. `make image` puts the same files together without Docker
# (scripts/image/contents.ts), and a test keeps the lines at the end of this file equal to what it says.

# The digests are those of indexes for several architectures; Dependabot proposes newer ones.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /src
COPY . .
RUN npm ci
RUN scripts/node scripts/build.ts && scripts/node scripts/image/stage.ts /image

# glibc, libstdc++, root certificates and nothing to log in with.
FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /image/ /
WORKDIR /app
ENV NODE_ENV="production"
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "/app/svc-gateway.mjs"]
