// In charge of: Oracle's host names: the domain of a region, and the addresses of a bucket in both of its APIs.
// Not in charge of: whether namespace and region are valid parts of host names (contract/job/stores/).

/** Regions outside oraclecloud.com, which Oracle's SDK lists as realms. A new realm needs an entry here. */
const domains: Readonly<Record<string, readonly string[]>> = {
  'oraclegovcloud.com': ['us-langley-1', 'us-luke-1', 'us-gov-ashburn-1', 'us-gov-chicago-1', 'us-gov-phoenix-1'],
  'oraclegovcloud.uk': ['uk-gov-london-1', 'uk-gov-cardiff-1'],
  'oraclecloud.eu': ['eu-madrid-2', 'eu-frankfurt-2'],
  'oraclecloud8.com': ['ap-chiyoda-1', 'ap-ibaraki-1'],
  'oraclecloud9.com': ['me-dcc-muscat-1', 'me-ibri-1'],
  'oraclecloud10.com': ['ap-dcc-canberra-1'],
  'oraclecloud14.com': [
    'eu-dcc-milan-1',
    'eu-dcc-milan-2',
    'eu-dcc-dublin-1',
    'eu-dcc-dublin-2',
    'eu-dcc-rating-1',
    'eu-dcc-rating-2',
  ],
  'oraclecloud15.com': ['ap-dcc-gazipur-1'],
  'oraclecloud20.com': ['eu-jovanovac-1'],
  'oraclecloud21.com': ['me-dcc-doha-1', 'me-alrayyan-1'],
  'oraclecloud23.com': ['us-somerset-1', 'us-thames-1'],
  'oraclecloud24.com': ['eu-dcc-zurich-1', 'eu-crissier-1'],
  'oraclecloud26.com': ['me-abudhabi-3', 'me-alain-1'],
  'oraclecloud29.com': ['me-abudhabi-2', 'me-abudhabi-4'],
  'oraclecloud35.com': ['ap-seoul-2', 'ap-suwon-1', 'ap-chuncheon-2'],
  'oraclecloud42.com': ['us-ashburn-2', 'us-newark-1'],
  'oraclecloud51.com': ['eu-budapest-1'],
  'oraclecloud52.com': ['sa-riodejaneiro-1'],
}

export interface OciBucketAddress {
  namespace: string
  bucket: string
  region: string
}

function domainOfRegion(region: string): string {
  return Object.entries(domains).find(([, regions]) => regions.includes(region))?.[0] ?? 'oraclecloud.com'
}

/** Address of the bucket in the native API, without a trailing slash. */
export function ociEndpoint({ namespace, bucket, region }: OciBucketAddress): string {
  return `https://objectstorage.${region}.${domainOfRegion(region)}/n/${namespace}/b/${bucket}`
}

/** Address of the bucket in the S3 API. Path style, the only one that every region has. */
export function ociS3Endpoint({ namespace, bucket, region }: OciBucketAddress): string {
  return `https://${namespace}.compat.objectstorage.${region}.${domainOfRegion(region)}/${bucket}`
}

/** For messages and for `location`. */
export function ociBucketName({ namespace, bucket }: OciBucketAddress): string {
  return `oci://${namespace}/${bucket}`
}
