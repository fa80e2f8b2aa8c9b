// The commands at a broker with authentication. The client.properties of a Kafka user is all that
// `weir` needs.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { makeCertificates } from '../support/certificates.ts'
import { brokerHost, brokerStartMs, startBroker } from '../support/kafka/broker.ts'
import type { Broker } from '../support/kafka/broker-options.ts'
import { script } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let broker: Broker
let authority: string
let commands: CommandFolder

beforeAll(async () => {
  const certificates = makeCertificates(['localhost', '127.0.0.1', await brokerHost()])
  authority = certificates.authority
  broker = await startBroker({
    listeners: { LOGIN: 'SASL_SSL' },
    users: { weir: 'a-secret', stranger: 'another-secret' },
    properties: {
      'listener.name.login.ssl.keystore.type': 'PEM',
      'listener.name.login.ssl.keystore.certificate.chain': certificates.broker.certificate,
      'listener.name.login.ssl.keystore.key': certificates.broker.key,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:weir',
    },
  })
}, brokerStartMs)
afterEach(() => commands.close())
afterAll(() => broker?.stop())

/** Writes a client.properties; returns the flags with which a command uses it. */
function as(user: string, password: string): string[] {
  writeFileSync(join(commands.folder, 'authority.pem'), authority)
  const properties = [
    `bootstrap.servers=${broker.listeners.LOGIN}`,
    'security.protocol=SASL_SSL',
    'sasl.mechanism=SCRAM-SHA-512',
    `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="${user}" password="${password}";`,
    'ssl.truststore.type=PEM',
    'ssl.truststore.location=authority.pem',
  ]
  writeFileSync(join(commands.folder, `${user}.properties`), properties.join('\n'))
  return ['--bus', 'kafka', '--command-config', `${user}.properties`]
}

describe('a client.properties with SCRAM through TLS', () => {
  it('is enough to create topics, run stages and answer a message', async () => {
    commands = await openCommandFolder(script())
    const login = as('weir', 'a-secret')
    for (const what of ['create', 'check'])
      expect(await commands.run(['topics', what, ...login])).toMatchObject({ code: 0, errors: '' })
    const stages = startUp(commands, { args: [...login, '--agents', 'agent.yaml'] })
    await stages.untilReady()
    expect(await commands.run(['ask', ...login, '--agent', 'agent.yaml', 'hello'])).toMatchObject({
      code: 0,
      out: 'The script is over.\n',
    })
    stages.signal('SIGTERM')
    const { code, errors } = await stages.ended
    expect(code).toBe(0)
    expect(errors).not.toContain('a-secret')
  })

  it.each([
    ['that names another password', 'weir', 'guessed-secret', /SCRAM-SHA-512/],
    [
      'of a user without rights',
      'stranger',
      'another-secret',
      /may not read or write the topic weir\.conversation-events .*Grant the permission/,
    ],
  ])('%s ends a stage with 1 and the reason', async (_, user, password, message) => {
    commands = await openCommandFolder(script())
    const stages = startUp(commands, { args: [...as(user, password), '--stages', 'validator'] })
    const { code, errors } = await stages.ended
    expect(code).toBe(1)
    expect((await stages.line('the stages cannot be started')).err).toMatchObject({
      code: 'bus.unauthorized',
      message: expect.stringMatching(message),
    })
    expect(errors).not.toContain(password)
  })
})
