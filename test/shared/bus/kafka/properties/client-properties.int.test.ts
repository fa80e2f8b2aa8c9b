// A broker accepts the logins of a client.properties: one broker, with a listener for each kind of
// login.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { readClientProperties } from '../../../../../shared/bus/kafka/properties/client-properties.ts'
import { type Certificates, makeCertificates } from '../../../../support/certificates.ts'
import { brokerHost, brokerStartMs, startBroker } from '../../../../support/kafka/broker.ts'
import type { Broker } from '../../../../support/kafka/broker-options.ts'

const password = 'p"a\\s;s=1'
const quoted = 'p\\\\"a\\\\\\\\s;s=1' // as in the login module of a .properties file
const plainModule = 'org.apache.kafka.common.security.plain.PlainLoginModule'
const scramModule = 'org.apache.kafka.common.security.scram.ScramLoginModule'

let folder: string
let certificates: Certificates
let authority: string
let broker: Broker
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-logins-'))
  certificates = makeCertificates(['localhost', '127.0.0.1', await brokerHost()])
  authority = join(folder, 'authority.pem')
  writeFileSync(authority, certificates.authority)
  const identity = (name: string, { certificate, key }: Certificates['broker']) => ({
    [`listener.name.${name}.ssl.keystore.type`]: 'PEM',
    [`listener.name.${name}.ssl.keystore.certificate.chain`]: certificate,
    [`listener.name.${name}.ssl.keystore.key`]: key,
  })
  broker = await startBroker({
    listeners: {
      LOGIN: 'SASL_PLAINTEXT',
      LOGINTLS: 'SASL_SSL',
      TLS: 'SSL',
      MUTUAL: 'SSL',
      ELSEWHERE: 'SSL',
    },
    users: { alice: password },
    properties: {
      ...identity('logintls', certificates.broker),
      ...identity('tls', certificates.broker),
      ...identity('mutual', certificates.broker),
      'listener.name.mutual.ssl.client.auth': 'required',
      'listener.name.mutual.ssl.truststore.type': 'PEM',
      'listener.name.mutual.ssl.truststore.certificates': certificates.authority,
      ...identity('elsewhere', certificates.elsewhere),
    },
  })
}, brokerStartMs)
afterAll(async () => {
  await broker.stop()
  rmSync(folder, { recursive: true })
})

describe('SASL', () => {
  const login = (mechanism: string, word = quoted) => `
    security.protocol=SASL_PLAINTEXT
    sasl.mechanism=${mechanism}
    sasl.jaas.config=${mechanism === 'PLAIN' ? plainModule : scramModule} required username="alice" password="${word}";`

  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])('logs in by %s', async (mechanism) => {
    await expect(nodes('LOGIN', login(mechanism))).resolves.toBe(1)
  })

  it.each(['PLAIN', 'SCRAM-SHA-512'])(
    'does not log in by %s with another password',
    async (mechanism) => {
      await expect(nodes('LOGIN', login(mechanism, 'guessed'))).rejects.toThrow(/auth/i)
    },
  )

  it('logs in through TLS', async () => {
    const text = login('SCRAM-SHA-512').replace('SASL_PLAINTEXT', 'SASL_SSL')
    await expect(
      nodes('LOGINTLS', `${text}\nssl.truststore.type=PEM\nssl.truststore.location=${authority}`),
    ).resolves.toBe(1)
  })
})

describe('TLS', () => {
  const trusting = () =>
    `security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=${authority}`

  it("trusts a broker whose certificate comes from the trust store's authority, and no other", async () => {
    await expect(nodes('TLS', trusting())).resolves.toBe(1)
    await expect(nodes('TLS', 'security.protocol=SSL')).rejects.toThrow(/certificate/)
  })

  it('does not trust a broker whose certificate is for another host, unless the check is off', async () => {
    await expect(nodes('ELSEWHERE', trusting())).rejects.toThrow(/altnames/)
    await expect(
      nodes('ELSEWHERE', `${trusting()}\nssl.endpoint.identification.algorithm=`),
    ).resolves.toBe(1)
  })

  it('sends the certificate of its key store to a broker that requests one', async () => {
    const store = join(folder, 'store.pem')
    writeFileSync(store, certificates.client.key + certificates.client.certificate)
    await expect(nodes('MUTUAL', trusting())).rejects.toThrow()
    await expect(
      nodes('MUTUAL', `${trusting()}\nssl.keystore.type=PEM\nssl.keystore.location=${store}`),
    ).resolves.toBe(1)
    const inLine = (pem: string) => pem.replaceAll('\n', '\\n')
    const { certificate, key } = certificates.client
    const inProperties = `ssl.keystore.certificate.chain=${inLine(certificate)}\nssl.keystore.key=${inLine(key)}`
    await expect(nodes('MUTUAL', `${trusting()}\n${inProperties}`)).resolves.toBe(1)
  })
})

/** The number of brokers that a client with these properties finds at a listener. */
async function nodes(listener: string, text: string): Promise<number> {
  const file = join(folder, 'client.properties')
  writeFileSync(file, text)
  const config = readClientProperties({ file, bootstrapServer: broker.listeners[listener] })
  const admin = new kafkajs.Kafka({
    ...config,
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 1 },
  }).admin()
  try {
    await admin.connect()
    const { brokers } = await admin.describeCluster()
    return brokers.length
  } finally {
    await admin.disconnect()
  }
}
