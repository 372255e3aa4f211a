# One image for the controller and the proxies. `make image` puts the same files together without Docker
# (scripts/image/contents.ts), and a test keeps the lines at the end of this file equal to what it says.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci
RUN scripts/node scripts/build.ts && scripts/node scripts/image/stage.ts /image

# glibc, libstdc++, root certificates and nothing to log in with.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/ /
WORKDIR /app
ENV NODE_ENV="production"
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "/app/svc-gateway.mjs"]
