export const changes = { follow: () => () => {} };
