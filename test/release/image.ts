// `make image-test`: builds the image for each platform that this machine's builder has, and runs its
// demo. Needs Docker, unless `--optional` is given. NODE_IMAGE replaces the base image.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn, versionOf } from '../../bin/release-faults.ts'

const root = join(import.meta.dirname, '..', '..')
const version = versionOf(filesIn(root))

const [, defaultBase = ''] =
  /^ARG NODE_IMAGE=(.+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
const base = process.env.NODE_IMAGE || defaultBase

// Not `docker buildx inspect` alone: it succeeds without a daemon.
for (const [isThere, reason] of [
  [() => succeeds('info'), 'Docker does not answer'],
  [() => succeeds('buildx'), 'Docker has no plug-in buildx'],
  [
    () => succeeds('image', 'inspect', base) || succeeds('buildx', 'imagetools', 'inspect', base),
    `Docker has no image ${base}, and its registry gives none`,
  ],
] as const)
  if (!isThere()) {
    console.log(`not run: the image, because ${reason}`)
    process.exit(process.argv.includes('--optional') ? 0 : 1)
  }
const builder = docker('buildx', 'inspect', '--bootstrap')

for (const arch of ['amd64', 'arm64']) {
  if (!builder.includes(`linux/${arch}`)) {
    console.log(
      `not run: the image for linux/${arch}, because the builder of Docker has no ${arch}`,
    )
    continue
  }
  const platform = ['--platform', `linux/${arch}`]
  const image = `weir:${version}-${arch}`
  const values = ['--build-arg', `VERSION=${version}`, '--build-arg', 'NODE_IMAGE']
  docker('buildx', 'build', '--load', ...platform, ...values, '--tag', image, '.')

  const label = '{{index .Config.Labels "org.opencontainers.image.version"}}'
  assert.equal(docker('image', 'inspect', '--format', label, image), `${version}\n`)
  const run = (...args: string[]) => docker('run', '--rm', ...platform, ...args)
  assert.equal(run(image, '--version'), `${version}\n`)
  assert.equal(run('--entrypoint', 'id', image, '-u'), '1000\n')
  assert.match(run(image, 'demo'), /with Weir it ended answered/)
  console.log(`ok  ${image}: label, version, user and demo`)
}

function succeeds(...args: string[]): boolean {
  return spawnSync('docker', args).status === 0
}

function docker(...args: string[]): string {
  return execFileSync('docker', args, { cwd: root, encoding: 'utf8' })
}
