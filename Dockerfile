# One image for every stage and command of Weir; what a container does its arguments say: `weir up --stages validator`.
# Node runs the TypeScript sources as they are, so there is nothing to build but what they depend on.

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY bin/node/package.json bin/node/
# Without the workspace that brings a checkout its Node.js: the image has one.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --workspaces=false --ignore-scripts --loglevel=error

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin/weir bin/
COPY schemas schemas
COPY shared shared
COPY services services
COPY client client
COPY apps apps
# Local copies of tables, where a container has a volume there or not; nothing else is written but /tmp.
RUN mkdir --parents /var/lib/weir && chown node:node /var/lib/weir && ln --symbolic /app/bin/weir /usr/local/bin/weir
ENV NODE_ENV=production \
    WEIR_DATA_FOLDER=/var/lib/weir
WORKDIR /var/lib/weir
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
ENTRYPOINT ["/usr/local/bin/weir"]
CMD ["--help"]
