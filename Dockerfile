# One image for every stage and command of Weir. The arguments choose: `weir up --stages validator`.
# Node runs the TypeScript sources directly, so only the dependencies need a build stage.
#
# The digest names one image for good. NODE_IMAGE replaces it, for example with an image of your registry.

ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY bin/node/package.json bin/node/
# Without the workspace bin/node: the image has its own Node.js.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --workspaces=false --ignore-scripts --loglevel=error

FROM ${NODE_IMAGE}
# For the sandboxes of tools. It needs no setuid bit and no capability; docs/guard/sandbox.md lists
# the permissions that the container needs.
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin/weir bin/
COPY schemas schemas
COPY shared shared
COPY services services
COPY client client
COPY apps apps
# Local copies of tables, with or without a volume. Weir writes only here and to /tmp.
RUN mkdir --parents /var/lib/weir && chown node:node /var/lib/weir && ln --symbolic /app/bin/weir /usr/local/bin/weir
ENV NODE_ENV=production \
    WEIR_DATA_FOLDER=/var/lib/weir
WORKDIR /var/lib/weir
# A number, because Kubernetes cannot check a name against root.
USER 1000:1000
# make image-test and the release pass the version of package.json.
ARG VERSION=unknown
LABEL org.opencontainers.image.title=weir \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.licenses=Apache-2.0
ENTRYPOINT ["/usr/local/bin/weir"]
CMD ["--help"]
