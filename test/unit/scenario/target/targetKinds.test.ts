import assert from 'node:assert/strict';
import {
  connectionStringProblem,
  readConnectionString,
} from '../../../../src/scenario/target/targetKinds';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the parts of a connection string', () => {
  it('are endpoint, audience without port, and key', () => {
    const text = 'Endpoint=https://Name.service.signalr.net/;AccessKey=a+b/c==;Version=1.0;';
    assert.equal(connectionStringProblem(text), undefined);
    const endpoint = 'https://name.service.signalr.net';
    assert.deepEqual(readConnectionString(text), {
      endpoint,
      audience: endpoint,
      clientEndpoint: endpoint,
      serverEndpoint: endpoint,
      accessKey: 'a+b/c==',
    });
  });

  for (const text of [
    'Endpoint=http://localhost;Port=8888;AccessKey=key;Version=1.0;',
    ' endpoint = http://localhost:1 ; PORT = 8888 ; accesskey = key ;; unknown=x',
  ]) {
    it(`have a port of their own: ${text}`, () => {
      assert.equal(connectionStringProblem(text), undefined);
      const parts = readConnectionString(text);
      assert.equal(parts.endpoint, 'http://localhost:8888');
      assert.equal(parts.audience, 'http://localhost');
      assert.equal(parts.accessKey, 'key');
    });
  }

  it('may lead clients and servers over gateways, while tokens are made out to the endpoint', () => {
    const parts = readConnectionString(
      'Endpoint=https://a.b;AccessKey=key;ClientEndpoint=https://c.d:444/;ServerEndpoint=https://e.f/g/',
    );
    assert.equal(parts.audience, 'https://a.b');
    assert.equal(parts.clientEndpoint, 'https://c.d:444');
    assert.equal(parts.serverEndpoint, 'https://e.f/g');
  });

  it('have no path that would be lost', () => {
    const problem = (text: string): string | undefined =>
      connectionStringProblem(`${text};AccessKey=key`);
    assert.match(problem('Endpoint=https://a.b/g')!, /has a path.* ClientEndpoint and Server/);
    assert.equal(problem('Endpoint=https://a.b/;ClientEndpoint=https://c.d/g'), undefined);
    for (const name of ['ClientEndpoint', 'ServerEndpoint'])
      assert.match(
        problem(`Endpoint=https://a.b;${name}=https://c.d/g?h=1`)!,
        /ends with its path/,
      );
  });

  it('may be empty where they may be missing', () => {
    const key = 'Endpoint=https://a.b;AccessKey=key';
    const given = readConnectionString(`${key};ClientEndpoint=;ServerEndpoint= `);
    assert.deepEqual(given, readConnectionString(key));
    assert.match(connectionStringProblem('Endpoint=;AccessKey=key')!, /has no Endpoint/);
    const app = 'Endpoint=https://a.b;AuthType=azure.app;ClientId=i';
    for (const [rest, missing] of [
      ['TenantId=t;ClientSecret=', /needs ClientSecret or ClientCertPath/],
      ['TenantId=;ClientSecret=s', /needs TenantId/],
    ] as const)
      assert.match(connectionStringProblem(`${app};${rest}`)!, missing);
    const signIn = readConnectionString('Endpoint=https://a.b;AuthType=aad;ClientId=').signIn;
    assert.deepEqual(plain(signIn), { kind: 'default' });
  });

  for (const [authType, signIn] of [
    ['azure', { kind: 'default' }],
    ['AZURE.MSI;ClientId=i', { kind: 'managedIdentity', clientId: 'i' }],
    [
      'azure.app;ClientId=i;TenantId=t;ClientSecret=s=',
      { kind: 'application', clientId: 'i', tenantId: 't', clientSecret: 's=' },
    ],
    [
      'azure.app;ClientId=i;TenantId=t;ClientCert=/c.pem',
      { kind: 'application', clientId: 'i', tenantId: 't', clientCertificateFile: '/c.pem' },
    ],
    [
      'Azure.App;ClientId=i;TenantId=t;ClientCertPath=c.pem',
      { kind: 'application', clientId: 'i', tenantId: 't', clientCertificateFile: 'c.pem' },
    ],
    ['aad', { kind: 'default' }],
    ['aad;ClientId=i', { kind: 'managedIdentity', clientId: 'i' }],
    [
      'AAD;ClientId=i;TenantId=t;ClientSecret=s',
      { kind: 'application', clientId: 'i', tenantId: 't', clientSecret: 's' },
    ],
  ] as const) {
    it(`sign in without a key: AuthType=${authType}`, () => {
      const text = `Endpoint=https://a.b;AuthType=${authType}`;
      assert.equal(connectionStringProblem(text), undefined);
      const parts = readConnectionString(text);
      assert.deepEqual(plain(parts.signIn), signIn);
      assert.equal(parts.accessKey, undefined);
    });
  }

  it('take an unknown AuthType for the access key', () => {
    const parts = readConnectionString('Endpoint=https://a.b;AuthType=other;AccessKey=key');
    assert.equal(parts.accessKey, 'key');
    assert.equal(parts.signIn, undefined);
  });
});
