import { dotnetClients } from './classicClients';
import { describeClient } from './classicContract';

describeClient({ title: '.NET', start: dotnetClients, refusal: /500|Internal Server Error/ });
