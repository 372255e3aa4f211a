/** The ports, files and addresses that the configuration of nginx refers to. */
export type ServerFiles = {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly folder: string;
  /** Addresses of endpoints by the name of their upstream; a try that fails is made again at the next one, as there. */
  readonly upstreams?: ReadonlyMap<string, readonly string[]>;
  /** The address of a Service of a namespace, or the name of an upstream. */
  readonly addressOf: (namespace: string, service: string) => string;
  /** The file with the certificate and key of a host; undefined if it has none. */
  readonly certificateOf: (host: string) => string | undefined;
  /** The file with the authorities of client certificates in a Secret. */
  readonly authorityOf: (namespace: string, secret: string) => string;
  /** The fields in a ConfigMap (`namespace/name`). */
  readonly fieldsOf?: (name: string) => Readonly<Record<string, string>>;
  /** Paths with queries that Lua would escape. */
  readonly escaped?: readonly string[];
  /** The htpasswd file of a Secret. */
  readonly usersOf: (namespace: string, secret: string) => string;
};
