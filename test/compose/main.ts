// Runs docker-compose.yml for real: starts and scales the services, plays the demo, sends a message
// from this machine, and stops all. `make compose-test` runs it. It builds an image and starts a
// container for
// each service, which takes minutes on a small machine, so `make test` does not. Needs Docker with
// compose. Leaves only the image. `--signed`: with docker-compose.users.yml and docker-compose.signed.yml;
// only root and user 1000 can, because the containers must own the files of their passwords and keys.

import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { stageNames } from '../../shared/contract/topology.ts'

const root = join(import.meta.dirname, '..', '..')
const kafkaPort = await freePort()
/** Runs next to a project that somebody uses. */
const project = `weir-test-${process.pid}`
const isSigned = process.argv.includes('--signed')
const secrets = mkdtempSync(join(tmpdir(), 'weir-compose-'))
const users = join(secrets, 'users')
const keys = join(secrets, 'keys')
const overrides = isSigned ? ['docker-compose.users.yml', 'docker-compose.signed.yml'] : []
const environment = {
  ...process.env,
  COMPOSE_FILE: ['docker-compose.yml', ...overrides].join(delimiter),
  WEIR_USERS_FOLDER: users,
  WEIR_KEYS_FOLDER: keys,
  COMPOSE_PROJECT_NAME: project,
  KAFKA_PORT: `${kafkaPort}`,
  WEIR_PARTITIONS: '6',
}

try {
  if (isSigned)
    step('users and keys', () => {
      done('deploy/create-users.sh', [users])
      done('bin/weir', ['keys', 'create', keys])
      if (process.getuid?.() === 0) done('chown', ['-R', '1000:1000', secrets])
    })

  step('up', () => {
    compose('up', '--build', '--wait')
    assert.deepEqual(
      states('running').toSorted(),
      ['demo-model', 'kafka', ...stageNames].toSorted(),
    )
  })

  step('each stage is ready, no root, and cannot write to its image', () => {
    for (const stage of stageNames) {
      assert.equal(inside(stage, 1, 'id -u'), '1000')
      assert.notEqual(
        run('docker', ['compose', 'exec', '-T', stage, 'touch', '/app/x']).status,
        0,
        `${stage} can write to its image`,
      )
      assert.deepEqual(Object.values(partitionsOf(stage)), new Array(6).fill('caught up'))
    }
  })

  step('keys of models are in llm-gateway alone', () => {
    for (const stage of stageNames) {
      const names = inside(stage, 1, 'env').split('\n')
      assert.equal(
        names.some((line) => line.startsWith('ANTHROPIC_API_KEY=')),
        stage === 'llm-gateway',
        stage,
      )
    }
  })

  step('the demo, with both models', () => {
    assert.match(
      compose('run', '--rm', '-T', 'demo'),
      /model requests +25 +4\n[\s\S]*tool starts +25 +0\n[\s\S]*ended answered: the model answered/,
    )
    assert.match(
      compose('run', '--rm', '-T', 'demo', '--bad', 'stubborn'),
      /model requests +25 +5\n[\s\S]*tool starts +25 +0\n/,
    )
  })

  step('--scale validator=3: they share the partitions, and the demo leaves them alone', () => {
    compose('up', '--wait', '--scale', 'validator=3')
    const shares = () => [1, 2, 3].map((index) => Object.keys(partitionsOf('validator', index)))
    until(() => shares().every((share) => share.length === 2))
    assert.deepEqual(shares().flat().toSorted(), ['0', '1', '2', '3', '4', '5'])
    assert.match(compose('run', '--rm', '-T', 'demo'), /model requests +25 +4\n/)
    assert.equal(states('running').filter((service) => service === 'validator').length, 3)
  })

  step('weir ask from this machine', () => {
    const agent = join(root, 'apps', 'demo', 'agents', 'demo-reflex.yaml')
    const args = [
      'ask',
      '--bus',
      'kafka',
      '--bootstrap-server',
      `localhost:${kafkaPort}`,
      ...(isSigned ? ['--command-config', join(users, 'edge.properties')] : []),
      ...(isSigned ? ['--record-signing', join(keys, 'edge.json')] : []),
      '--agent',
      agent,
      'hello',
    ]
    assert.match(done('bin/weir', args), /^I tried to run a shell command/)
  })

  step('stop: every stage ends in order', () => {
    compose('stop')
    const ended = containers().filter(({ Service }) =>
      stageNames.some((stage) => stage === Service),
    )
    assert.deepEqual(new Set(ended.map(({ ExitCode }) => ExitCode)), new Set([0]))
  })
} finally {
  run('docker', ['compose', 'down', '--volumes', '--remove-orphans'])
  rmSync(secrets, { recursive: true })
}

function step(name: string, check: () => void): void {
  const began = performance.now()
  check()
  process.stdout.write(`ok  ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)\n`)
}

type Container = { Service: string; State: string; ExitCode: number }

function containers(): Container[] {
  const lines = compose('ps', '--all', '--format', 'json').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Container)
}

/** The service of each container in that state. */
function states(state: string): string[] {
  return containers().flatMap(({ Service, State }) => (State === state ? [Service] : []))
}

/** The partitions that /readyz of a container reports. */
function partitionsOf(stage: string, index = 1): Record<string, string> {
  const text = inside(
    stage,
    index,
    'exec 3<>/dev/tcp/127.0.0.1/8080; printf "GET /readyz HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3',
  )
  const body = text.slice(text.indexOf('{'))
  return (
    (JSON.parse(body) as { stages: Record<string, { partitions: Record<string, string> }> }).stages[
      stage
    ]?.partitions ?? {}
  )
}

/** The output of a line of bash in a container of the service. */
function inside(service: string, index: number, line: string): string {
  return compose('exec', '-T', '--index', `${index}`, service, 'bash', '-c', line).trim()
}

function until(isSo: () => boolean): void {
  for (const end = performance.now() + 60_000; !isSo(); spawnSync('sleep', ['0.5']))
    if (performance.now() > end) assert.fail(`this did not come true: ${isSo}`)
}

function compose(...args: string[]): string {
  return done('docker', ['compose', ...args])
}

/** Returns standard output, and shows standard error. */
function done(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = run(program, args)
  if (error !== undefined || status !== 0) {
    process.stderr.write(
      `${program} ${args.join(' ')} ended with ${error ?? status}\n${stdout}${stderr}`,
    )
    process.stderr.write(run('docker', ['compose', 'logs', '--no-color', '--tail', '20']).stdout)
    assert.fail(`${program} ${args.join(' ')}`)
  }
  return stdout
}

function run(program: string, args: string[]): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    cwd: root,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 600_000,
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
