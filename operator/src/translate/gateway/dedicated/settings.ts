/** What the operator of the gateway decides about Gateways with proxies of their own. */
export type DedicatedSettings = {
  /** The image of proxies whose parameters name none; undefined: they must. */
  readonly image: string | undefined;
  /** Where the proxies find the controller, as `host:port`. */
  readonly discoveryEndpoint: string;
  readonly bootstrapEndpoint: string;
  /** SPIFFE trust domain of the discovery channel. */
  readonly trustDomain: string;
};
