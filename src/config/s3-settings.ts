import { z } from 'zod'
import { flag } from './readers.ts'

const kms = ['aws:kms', 'aws:kms:dsse']

/** The settings of an S3 store. */
export const s3Settings = {
  S3_BUCKET: {
    help: 'bucket of an S3 store, to keep the blobs there; created if it is missing',
    default: '',
    shown: 'the blobs are files in BLOB_DIR',
    read: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be a bucket name: 3 to 63 of a-z, 0-9, . and -',
      )
      .or(z.literal('')),
  },
  S3_ENDPOINT: {
    help: 'URL of the S3 store, without the bucket',
    default: '',
    shown: 'Amazon S3 in S3_REGION',
    read: z.url({ protocol: /^https?$/ }).or(z.literal('')),
  },
  S3_REGION: {
    help: 'region of the bucket, used in signatures; otherwise AWS_REGION or AWS_DEFAULT_REGION',
    default: '',
    shown: 'us-east-1 with S3_ENDPOINT',
    read: z.string().regex(/^[a-z0-9-]*$/, 'must be the name of a region, such as eu-central-1'),
  },
  S3_ACCESS_KEY_ID: {
    help: 'access key of the S3 store; otherwise AWS_ACCESS_KEY_ID, or the identity of this service that the AWS SDK finds: profile, web identity (IRSA), ECS, EKS or EC2',
    default: '',
    shown: 'the identity of this service',
    read: z.string(),
  },
  S3_SECRET_ACCESS_KEY: {
    help: 'secret of the access key; otherwise AWS_SECRET_ACCESS_KEY',
    default: '',
    shown: 'none',
    read: z.string(),
  },
  S3_PROFILE: {
    help: 'profile of the AWS configuration files, instead of an access key; otherwise AWS_PROFILE',
    default: '',
    shown: 'none',
    read: z.string(),
  },
  S3_PATH_STYLE: {
    help: 'true: the bucket is in the path of URLs (https://host/bucket/key); false: in the name of the host (https://bucket.host/key)',
    default: '',
    shown: 'true with S3_ENDPOINT, otherwise false',
    read: flag.or(z.literal('')),
  },
  S3_SERVER_SIDE_ENCRYPTION: {
    help: 'how the S3 store encrypts blobs: AES256, aws:kms or aws:kms:dsse',
    default: '',
    shown: 'as the bucket is set',
    read: z.enum(['', 'AES256', ...kms]),
  },
  S3_KMS_KEY_ID: {
    help: 'with aws:kms: id of the key with which the S3 store encrypts blobs',
    default: '',
    shown: 'the key of the account',
    read: z.string(),
  },
} as const

/** The parsed settings of the store by name. */
type S3Given = { [K in keyof typeof s3Settings]: z.output<(typeof s3Settings)[K]['read']> }

/** The bucket of the blobs; null if they are not in an S3 store. */
export function readS3(
  given: S3Given,
  env: NodeJS.ProcessEnv,
  others: { hasAzure: boolean; blobPublicUrl: string },
  problems: string[],
) {
  const set = Object.keys(s3Settings).filter(name => env[name])
  if (!given.S3_BUCKET) {
    if (set.length > 0 && !env.S3_BUCKET)
      problems.push(
        `S3_BUCKET: must be set for ${set.join(', ')}: it names the bucket of the blobs`,
      )
    return null
  }
  // The AWS SDK reads a key with a session token, and its expiry, from the environment itself.
  const own = given.S3_PROFILE || env.AWS_SESSION_TOKEN || env.AWS_PROFILE ? {} : env
  const accessKeyId = given.S3_ACCESS_KEY_ID || own.AWS_ACCESS_KEY_ID || ''
  const secretAccessKey = given.S3_SECRET_ACCESS_KEY || own.AWS_SECRET_ACCESS_KEY || ''
  const region =
    given.S3_REGION ||
    env.AWS_REGION ||
    env.AWS_DEFAULT_REGION ||
    (given.S3_ENDPOINT ? 'us-east-1' : '')
  if (others.hasAzure)
    problems.push(
      'S3_BUCKET: cannot be set with AZURE_STORAGE_ACCOUNT_URL or AZURE_STORAGE_CONNECTION_STRING, because there is one store',
    )
  if (!accessKeyId && secretAccessKey)
    problems.push('S3_ACCESS_KEY_ID: must be set with S3_SECRET_ACCESS_KEY')
  if (!secretAccessKey && accessKeyId)
    problems.push('S3_SECRET_ACCESS_KEY: must be set with S3_ACCESS_KEY_ID')
  if (given.S3_PROFILE && given.S3_ACCESS_KEY_ID)
    problems.push('S3_PROFILE: cannot be set with S3_ACCESS_KEY_ID: use one of them')
  if (!region) problems.push('S3_REGION: must be set with S3_BUCKET where S3_ENDPOINT is not')
  if (given.S3_KMS_KEY_ID && !kms.includes(given.S3_SERVER_SIDE_ENCRYPTION))
    problems.push('S3_KMS_KEY_ID: needs S3_SERVER_SIDE_ENCRYPTION=aws:kms')
  const pathStyle = given.S3_PATH_STYLE === '' ? given.S3_ENDPOINT !== '' : given.S3_PATH_STYLE
  if (!pathStyle && given.S3_BUCKET.includes('.') && !given.S3_ENDPOINT.startsWith('http:'))
    problems.push(
      'S3_PATH_STYLE: must be true for a bucket with a dot in its name: certificates do not cover its host',
    )
  // Signatures cover the path of a URL.
  if (URL.canParse(others.blobPublicUrl) && new URL(others.blobPublicUrl).pathname !== '/')
    problems.push('BLOB_PUBLIC_URL: must have no path with S3_BUCKET')
  return {
    bucket: given.S3_BUCKET,
    endpoint: (given.S3_ENDPOINT || `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ''),
    region,
    accessKeyId,
    secretAccessKey,
    profile: given.S3_PROFILE,
    pathStyle,
    encryption: given.S3_SERVER_SIDE_ENCRYPTION,
    kmsKeyId: given.S3_KMS_KEY_ID,
    /** The region for creating the bucket. Only Amazon requires it, except for its first region. */
    location: given.S3_ENDPOINT || region === 'us-east-1' ? undefined : region,
  }
}
