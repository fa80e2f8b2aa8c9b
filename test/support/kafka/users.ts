// Users of a test's broker: SASL/SCRAM, Kafka's StandardAuthorizer, and the rights that `weir topics
// acls` prints. The plain listener belongs to a super user, for the test itself.

import kafkajs from 'kafkajs'
import '../../../shared/bus/kafka/driver.ts' // its patch: no timers in the past
import type {
  AccessRight,
  PrincipalAccess,
} from '../../../shared/bus/kafka/cluster/access-rights.ts'
import { until } from '../inbox.ts'
import type { Broker, BrokerOptions } from './broker-options.ts'

export function brokerWithUsers(users: readonly string[]): BrokerOptions {
  return {
    listeners: { LOGIN: 'SASL_PLAINTEXT' },
    users: Object.fromEntries(users.map((user) => [user, passwordOf(user)])),
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    },
  }
}

/** The address for users. */
export function loginAddress({ listeners }: Broker): string {
  return listeners.LOGIN as string
}

/** The lines of a client.properties. */
export function loginProperties(user: string): string[] {
  const login = `org.apache.kafka.common.security.scram.ScramLoginModule required username="${user}" password="${passwordOf(user)}";`
  return [
    'security.protocol=SASL_PLAINTEXT',
    'sasl.mechanism=SCRAM-SHA-512',
    `sasl.jaas.config=${login}`,
  ]
}

export function passwordOf(user: string): string {
  return `secret-of-${user}`
}

export async function grant(
  { bootstrapServers }: Broker,
  users: readonly PrincipalAccess[],
): Promise<void> {
  const { AclPermissionTypes } = kafkajs
  const admin = new kafkajs.Kafka({
    brokers: [bootstrapServers],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin()
  await admin.connect()
  const acl = users.flatMap(({ principal, rights }) =>
    rights.flatMap((right) =>
      right.operations.map((operation) => ({
        principal: `User:${principal}`,
        host: '*',
        permissionType: AclPermissionTypes.ALLOW,
        operation: operationTypes[operation],
        ...resourceOf(right),
      })),
    ),
  )
  await admin.createAcls({ acl })
  // The controller confirms rights before the broker's authorizer applies them.
  await until(async () => {
    const { resources } = await admin.describeAcls({
      resourceType: AclResourceTypes.ANY,
      resourcePatternType: ResourcePatternTypes.ANY,
      operation: AclOperationTypes.ANY,
      permissionType: AclPermissionTypes.ANY,
    })
    const isApplied = (right: (typeof acl)[number]) =>
      resources.some(
        ({ resourceName, acls }) =>
          resourceName === right.resourceName &&
          acls.some(
            ({ principal, operation }) =>
              principal === right.principal && operation === right.operation,
          ),
      )
    return acl.every(isApplied)
  })
  await admin.disconnect()
}

const { AclOperationTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

const operationTypes = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
}

function resourceOf({ resource, name, pattern }: AccessRight) {
  return {
    resourceType: resource === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: name,
    resourcePatternType:
      pattern === 'prefixed' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  }
}
