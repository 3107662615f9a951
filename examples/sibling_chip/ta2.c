/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The third Timer_A of an MSP430F5529: a lamp at P1.0 by CCR0, one at P4.7 by CCR1 through TA2IV, and TA2.1 itself at
 * P2.4, high for a quarter of each millisecond of SMCLK's thousand ticks.
 */
#include <msp430.h>

int main(void)
{
    WDTCTL = WDTPW + WDTHOLD;
    P1DIR |= BIT0;
    P4DIR |= BIT7;
    P2DIR |= BIT4;
    P2SEL |= BIT4;
    TA2CCTL0 = CCIE;
    TA2CCR0 = 1000 - 1;
    TA2CCTL1 = CCIE | OUTMOD_7;
    TA2CCR1 = 250;
    TA2CTL = TASSEL_2 + MC_1 + TACLR;
    __bis_SR_register(LPM0_bits + GIE);
    return 0;
}

#pragma vector=TIMER2_A0_VECTOR
__interrupt void lamp(void)
{
    P1OUT ^= BIT0;
}

#pragma vector=TIMER2_A1_VECTOR
__interrupt void other(void)
{
    if (TA2IV == TA2IV_TA2CCR1) {
        P4OUT ^= BIT7;
    }
}
