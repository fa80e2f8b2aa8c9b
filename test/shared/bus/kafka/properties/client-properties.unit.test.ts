import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type ClientConfig,
  readClientProperties,
} from '../../../../../shared/bus/kafka/properties/client-properties.ts'
import { type Certificates, makeCertificates } from '../../../../support/certificates.ts'

const plainModule = 'org.apache.kafka.common.security.plain.PlainLoginModule'
const scramModule = 'org.apache.kafka.common.security.scram.ScramLoginModule'

let folder: string
let file: string
let certificates: Certificates
let authority: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-properties-'))
  file = join(folder, 'client.properties')
  certificates = makeCertificates(['localhost'])
  authority = join(folder, 'authority.pem')
  writeFileSync(authority, certificates.authority)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('readClientProperties', () => {
  it('reads brokers, the client id and the timeouts', () => {
    const config = readFile(`
      bootstrap.servers = one:9092, [::1]:9093
      client.id: agents
      request.timeout.ms=15000
      socket.connection.setup.timeout.ms=2000`)
    expect(config).toEqual({
      brokers: ['one:9092', '[::1]:9093'],
      clientId: 'agents',
      requestTimeout: 15_000,
      connectionTimeout: 2_000,
    })
  })

  it('needs no file', () => {
    expect(readClientProperties({ bootstrapServer: 'one:9092,two:9092' })).toEqual({
      brokers: ['one:9092', 'two:9092'],
      clientId: 'weir',
    })
  })

  it('prefers a single property over the file, and --bootstrap-server over both', () => {
    writeFileSync(file, 'bootstrap.servers=file:1\nclient.id=file')
    const overrides = { 'bootstrap.servers': 'property:1', 'client.id': 'property' }
    expect(readClientProperties({ file, overrides })).toMatchObject({
      brokers: ['property:1'],
      clientId: 'property',
    })
    expect(readClientProperties({ file, overrides, bootstrapServer: 'flag:1' })).toMatchObject({
      brokers: ['flag:1'],
    })
  })

  it.each([
    ['PLAIN', plainModule, 'plain'],
    ['SCRAM-SHA-256', scramModule, 'scram-sha-256'],
    ['SCRAM-SHA-512', scramModule, 'scram-sha-512'],
  ])('reads name and password of %s from the login module', (mechanism, module, kafkajsName) => {
    const config = readFile(`
      security.protocol=SASL_SSL
      sasl.mechanism=${mechanism}
      sasl.jaas.config=${module} required \\
        username="alice" \\
        password="a \\\\"b;c=\\\\\\\\";`)
    expect(config.sasl).toEqual({
      mechanism: kafkajsName,
      username: 'alice',
      password: 'a "b;c=\\',
    })
    expect(config.ssl).toEqual({})
  })

  describe('a password without encryption', () => {
    const properties = (mechanism: string, module: string) =>
      `security.protocol=SASL_PLAINTEXT\nsasl.mechanism=${mechanism}\nsasl.jaas.config=${module} required username="u" password="hunter2";`
    const read = (brokers: string, options = {}) => {
      writeFileSync(file, properties('PLAIN', plainModule))
      return readClientProperties({ file, bootstrapServer: brokers, ...options })
    }

    it.each(['localhost:9092', '127.0.0.1:9092,127.8.8.8:1', '[::1]:9092'])(
      'goes to this machine: %s',
      (brokers) => {
        expect(read(brokers).sasl).toMatchObject({ mechanism: 'plain' })
      },
    )

    it.each([
      'kafka:9092',
      'localhost:1,10.0.0.7:9092',
      'localhost.evil.example:1',
      '127.0.0.1.nip.io:1',
    ])('does not go to another one: %s', (brokers) => {
      expect(() => read(brokers)).toThrow(
        /SASL PLAIN would send the password to \S+ without encryption; set security.protocol to SASL_SSL/,
      )
    })

    it('goes anywhere if the setting allows it, or if the mechanism keeps it secret', () => {
      expect(read('kafka:9092', { plaintextPassword: 'allow' }).sasl).toBeDefined()
      writeFileSync(file, properties('SCRAM-SHA-512', scramModule))
      expect(readClientProperties({ file, bootstrapServer: 'kafka:9092' }).sasl).toBeDefined()
    })
  })

  it('reads a trust store from a PEM file', () => {
    const config = readFile(
      `security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=${authority}`,
    )
    expect(config.ssl).toEqual({ ca: certificates.authority })
  })

  it('reads a trust store and a key store from the properties themselves, even if line ends became blanks', () => {
    const blanks = (pem: string) => pem.trim().replaceAll('\n', ' ')
    const config = readFile(`
      security.protocol=SASL_SSL
      sasl.mechanism=PLAIN
      sasl.jaas.config=${plainModule} required username=u password=p;
      ssl.truststore.certificates=${blanks(certificates.authority)}
      ssl.keystore.certificate.chain=${blanks(certificates.client.certificate)}
      ssl.keystore.key=${blanks(certificates.client.key)}`)
    expect(config.ssl).toEqual({
      ca: certificates.authority,
      cert: certificates.client.certificate,
      key: certificates.client.key,
    })
  })

  it('reads a key store from a PEM file, with the password of its key', () => {
    const { privateKey, certificate } = certificates.client
    const encrypted = privateKey.export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'opens it',
    })
    const store = join(folder, 'store.pem')
    writeFileSync(store, `${encrypted}${certificate}`)
    const config = readFile(`
      security.protocol=SSL
      ssl.keystore.type=PEM
      ssl.keystore.location=${store}
      ssl.key.password=opens it`)
    expect(config.ssl).toMatchObject({
      cert: certificates.client.certificate,
      passphrase: 'opens it',
    })
    expect(
      refusal(`security.protocol=SSL\nssl.keystore.location=${store}\nssl.key.password=does not`),
    ).toContain('ssl.keystore.location has a private key that ssl.key.password does not open')
    expect(refusal(`security.protocol=SSL\nssl.keystore.location=${store}`)).toContain(
      'has an encrypted private key; set ssl.key.password',
    )
  })

  it('checks the host name unless the algorithm is empty', () => {
    const withAlgorithm = (value: string) =>
      readFile(`security.protocol=SSL\nssl.endpoint.identification.algorithm=${value}`).ssl
    expect(withAlgorithm('https')).toEqual({})
    expect(withAlgorithm('')).toEqual({ checkServerIdentity: expect.any(Function) })
  })

  it('limits the TLS versions', () => {
    const withVersions = (value: string) =>
      readFile(`security.protocol=SSL\nssl.enabled.protocols=${value}`).ssl
    expect(withVersions('TLSv1.3')).toEqual({ minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' })
    expect(withVersions('TLSv1.3,TLSv1.2')).toEqual({
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
    })
  })

  it('ignores properties that Weir sets itself, and reports each one', () => {
    const notes: string[] = []
    writeFileSync(file, 'acks=1\ngroup.id=mine')
    readClientProperties({
      file,
      bootstrapServer: 'one:1',
      onIgnored: (note) => notes.push(note),
    })
    expect(notes).toEqual([
      `${file}:1 acks is ignored: Weir always writes in order, and retries until all in-sync brokers acknowledge`,
      `${file}:2 group.id is ignored: Weir sets its own groups, positions and fetch sizes`,
    ])
  })
})

describe('readClientProperties rejects', () => {
  it('names every mistake at once, each with its line', () => {
    const message = refusal(`# mine
      security.protocl=SSL
      request.timeout.ms=soon

      client.id=a
      client.id=b
      ssl.keystore.password=hunter2
      sasl.kerberos.service.name=kafka`)
    expect(message.split('\n').slice(1)).toEqual([
      `  ${file}:6 client.id has another value at ${file}:5; keep one of them`,
      `  ${file}:2 security.protocl: is not a property of a Kafka client; did you mean security.protocol?`,
      `  ${file}:7 ssl.keystore.password is not supported: a PEM store has no password; ssl.key.password is for its private key`,
      `  ${file}:8 sasl.kerberos.service.name is not supported: Weir supports only PLAIN and SCRAM`,
      `  no broker is configured; set --bootstrap-server HOST:9092 (WEIR_BOOTSTRAP_SERVER), or bootstrap.servers in ${file}`,
      `  ${file}:3 request.timeout.ms is "soon"; must be a whole number of milliseconds from 1 to 2147483647`,
    ])
  })

  it.each([
    [
      'sasl.mechanism=PLAIN',
      'sasl.mechanism has no effect: security.protocol is not set; set it to SASL_SSL, or remove sasl.mechanism',
    ],
    [
      'security.protocol=SASL_PLAINTEXT\nssl.truststore.type=PEM',
      'ssl.truststore.type has no effect: security.protocol is SASL_PLAINTEXT; set it to SSL or SASL_SSL, or remove ssl.truststore.type',
    ],
    [
      'security.protocol=TLS',
      'security.protocol is "TLS"; must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL',
    ],
    [
      'security.protocol=SASL_SSL',
      'sasl.mechanism is missing; must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512',
    ],
    [
      'security.protocol=SASL_SSL',
      'sasl.jaas.config is missing; it contains the name and the password',
    ],
    [
      'security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI',
      'sasl.mechanism is "GSSAPI"; must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512',
    ],
    [
      'security.protocol=SSL\nssl.truststore.type=PEM',
      'ssl.truststore.location is missing; ssl.truststore.type is set',
    ],
    [
      'security.protocol=SSL\nssl.truststore.location=/nowhere.pem',
      'ssl.truststore.location /nowhere.pem does not exist',
    ],
    [
      'security.protocol=SSL\nssl.truststore.type=JKS\nssl.truststore.location=t.jks',
      'ssl.truststore.type is JKS, but Weir reads only PEM; convert it',
    ],
    [
      'security.protocol=SSL\nssl.truststore.certificates=none',
      'ssl.truststore.certificates has no certificate (-----BEGIN CERTIFICATE-----)',
    ],
    [
      'security.protocol=SSL\nssl.truststore.certificates=-----BEGIN CERTIFICATE----- AAAA -----END CERTIFICATE-----',
      'ssl.truststore.certificates has a certificate that cannot be read (number 1)',
    ],
    [
      'security.protocol=SSL\nssl.keystore.key=x',
      'ssl.keystore.certificate.chain is missing; the two belong together',
    ],
    [
      'security.protocol=SSL\nssl.key.password=x',
      'ssl.key.password is set, but no ssl.keystore is',
    ],
    [
      'security.protocol=SSL\nssl.endpoint.identification.algorithm=none',
      'is "none"; must be https, or empty for no check of the host name',
    ],
    [
      'security.protocol=SSL\nssl.enabled.protocols=TLSv1.1,TLSv1.2',
      'ssl.enabled.protocols is "TLSv1.1,TLSv1.2"; must be TLSv1.2 or TLSv1.3',
    ],
    ['bootstrap.servers=localhost', 'bootstrap.servers has "localhost"; must be HOST:PORT'],
    [
      'bootstrap.servers=PLAINTEXT://localhost:9092',
      'bootstrap.servers has "PLAINTEXT://localhost:9092"; must be HOST:PORT',
    ],
    ['bootstrap.servers=localhost:99999', 'must be HOST:PORT'],
    [
      'bootstrap.servers=me:pass@localhost:9092',
      'bootstrap.servers has a name or a password before a host; must be HOST:PORT',
    ],
    [
      'ssl.engine.factory.class=my.Factory',
      'ssl.engine.factory.class is not supported: names a Java class, and Weir is not written in Java',
    ],
    [
      'request.timeout.ms=0',
      'request.timeout.ms is "0"; must be a whole number of milliseconds from 1 to 2147483647',
    ],
  ])('%s', (text, expected) => expect(refusal(text)).toContain(expected))

  it.each([
    [`${plainModule} required username="u" password="p"`, 'has no semicolon at its end'],
    [`${plainModule} required username="u;`, 'cannot be read: a quotation mark is not closed'],
    [`${plainModule} required username="u";`, 'has no password'],
    [`${plainModule} required password="p";`, 'has no username'],
    [`${plainModule} required username=;`, 'has an option without a value'],
    [
      `${plainModule} required username="u" password="p" tokenauth="true";`,
      'has an option other than username and password',
    ],
    [
      `${scramModule} required username="u" password="p";`,
      'has the module of another mechanism than PLAIN',
    ],
    [
      'com.example.Login required username="u" password="p";',
      'has a module that Weir does not support',
    ],
    [`${plainModule} required username="u" password="p"; x`, 'has text after its semicolon'],
    [plainModule, 'is cut off'],
  ])('a login module like %s', (config, expected) => {
    expect(
      refusal(`security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=${config}`),
    ).toContain(`sasl.jaas.config ${expected}`)
  })

  it('a private key that does not match its certificate, and two stores at once', () => {
    const store = join(folder, 'mixed.pem')
    writeFileSync(store, certificates.broker.key + certificates.client.certificate)
    const message = refusal(`
      security.protocol=SSL
      ssl.keystore.location=${store}
      ssl.truststore.location=${authority}
      ssl.truststore.certificates=${certificates.authority.replaceAll('\n', '\\n')}`)
    expect(message).toContain(
      'ssl.keystore.location has a private key that does not match its first certificate',
    )
    expect(message).toContain(
      `ssl.truststore.certificates and ssl.truststore.location (${file}:4) are both set; keep one of them`,
    )
  })

  it('a Java store, with the commands that convert it to PEM', () => {
    const store = join(folder, 'store.jks')
    writeFileSync(store, Buffer.from('feedfeed00000002000000010000', 'hex'))
    expect(refusal(`security.protocol=SSL\nssl.truststore.location=${store}`)).toContain(
      'store.jks is not a PEM file; convert it once: keytool -importkeystore',
    )
  })

  it('a missing file', () => {
    const nowhere = join(folder, 'nowhere.properties')
    expect(() => readClientProperties({ file: nowhere, bootstrapServer: 'one:1' })).toThrow(
      `${nowhere} does not exist`,
    )
  })

  it('an unknown single property, with its flag', () => {
    expect(() =>
      readClientProperties({ bootstrapServer: 'one:1', overrides: { 'sasl.mechanisms': 'PLAIN' } }),
    ).toThrow(
      '--command-property sasl.mechanisms: is not a property of a Kafka client; did you mean sasl.mechanism?',
    )
  })
})

describe('secrets', () => {
  it('are in no message, with any mistake', () => {
    const secrets = ['hunter2', 'ONCE5qTzKEYPART0123', 's3cretName']
    const texts = [
      `sasl.jaas.config=${plainModule} required username="s3cretName" password="hunter2"`,
      `security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=${plainModule} required\n  username="s3cretName"\n  password="hunter2";`,
      `security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=hunter2 s3cretName`,
      `security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=${plainModule} required hunter2=s3cretName;`,
      'security.protocol=SSL\nssl.keystore.key=-----BEGIN PRIVATE KEY-----\nONCE5qTzKEYPART0123\n-----END PRIVATE KEY-----',
      'security.protocol=SSL\nssl.key.password=hunter2\nssl.truststore.password=hunter2\nssl.keystore.certificate.chain=hunter2\nssl.keystore.key=hunter2',
      'ssl.key.password=hunter2\nssl.key.password=hunter2 again',
    ]
    for (const text of texts)
      for (const secret of secrets) expect(refusal(text)).not.toContain(secret)
  })
})

function readFile(text: string): ClientConfig {
  writeFileSync(file, text)
  return readClientProperties({
    file,
    bootstrapServer: text.includes('bootstrap.servers') ? undefined : 'one:9092',
  })
}

/** The message of the denial. The file names no broker. */
function refusal(text: string): string {
  writeFileSync(file, text)
  try {
    readClientProperties({ file })
  } catch (error) {
    expect(error).toMatchObject({ code: 'settings.invalid' })
    return (error as Error).message
  }
  throw new Error('was accepted')
}
