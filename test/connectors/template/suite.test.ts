import { connectorSuite } from '../../../connectors/conformance/suite.ts';
import template from '../../../connectors/template/index.ts';
import { makePms } from './pms.ts';

connectorSuite('template', { type: template, makePms });
